"""SyncGuard finds the places where PyTorch code makes the CPU wait for the GPU."""

__version__ = "0.1.0"
