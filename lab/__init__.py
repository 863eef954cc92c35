"""Programs that try the whole service: faults, hosts, hostile bytes, and pictures of what people see."""
