"""Settings of the embedded server, sized for a machine that it shares with the rest of the service."""

from pathlib import Path

from paraph.kernel import machine

_MB = 1 << 20


def settings(sockets: Path, connections: int) -> dict[str, str]:
    """Return the settings that differ from PostgreSQL's defaults. ``connections``: the maximum."""
    memory = machine.memory_bytes() // _MB
    return {
        "listen_addresses": "",  # connections come through the socket only
        "unix_socket_directories": str(sockets),
        "unix_socket_permissions": "0700",
        "max_connections": str(connections),
        "shared_buffers": f"{_between(64, memory // 8, 1024)}MB",
        "effective_cache_size": f"{max(memory // 2, 128)}MB",
        "maintenance_work_mem": f"{_between(32, memory // 32, 512)}MB",
        "work_mem": "8MB",
        "fsync": "on",
        "synchronous_commit": "on",
        "full_page_writes": "on",
        "wal_level": "replica",
        "wal_compression": "on",
        "max_wal_size": "2GB",
        "checkpoint_timeout": "15min",
        "random_page_cost": "1.1",
        "jit": "off",  # for short statements, compiling costs more than it saves
        "max_worker_processes": str(max(machine.cores(), 4)),
        "idle_in_transaction_session_timeout": "10min",
        # The log gets faults of the server, never statements of clients, which contain keys and codes.
        "log_min_error_statement": "panic",
        "log_error_verbosity": "terse",
        "log_checkpoints": "off",
        "log_parameter_max_length": "0",
        "log_line_prefix": "%m [%p] ",
        "log_timezone": "UTC",
    }


def _between(lowest: int, value: int, highest: int) -> int:
    return max(lowest, min(value, highest))
