"""`python -m syncguard` is `syncguard`."""

from syncguard.cli.main import main

if __name__ == "__main__":
    main()
