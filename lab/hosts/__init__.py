"""Two hosts behind a balancer, in network namespaces of this machine."""
