"""PostgreSQL beyond what Django does with it: statements that are put together and planned once. Where every flow
passes, compiling a query anew costs several times what PostgreSQL takes to answer it."""
