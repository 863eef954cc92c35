"""Settings of the embedded server, sized to the machine it shares with the rest of the service."""

from pathlib import Path

from paraph.kernel import machine

_MB = 1 << 20


def settings(sockets: Path, connections: int) -> dict[str, str]:
    """Every setting that differs from PostgreSQL's own defaults, for up to ``connections`` clients."""
    memory = machine.memory_bytes() // _MB
    return {
        "listen_addresses": "",  # the socket folder alone leads in
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
        "jit": "off",  # short statements: compiling costs more than it gains
        "max_worker_processes": str(max(machine.cores(), 4)),
        "idle_in_transaction_session_timeout": "10min",
        # The log: faults of the server, never the statements of clients, in which keys and codes stand.
        "log_min_error_statement": "panic",
        "log_error_verbosity": "terse",
        "log_checkpoints": "off",
        "log_parameter_max_length": "0",
        "log_line_prefix": "%m [%p] ",
        "log_timezone": "UTC",
    }


def _between(lowest: int, value: int, highest: int) -> int:
    return max(lowest, min(value, highest))
