// SQLite as the system has it, and inline functions for what Swift cannot import.
#ifndef AFTERLINK_CSQLITE_H
#define AFTERLINK_CSQLITE_H

#include <sqlite3.h>

#endif
