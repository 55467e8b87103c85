// Simulates which sync calls report a failed sync.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

// Linux reports a failed sync once to each file description that was open then, even if another caller synced, and
// never to descriptions opened later (lib/errseq.c of the kernel, since 4.13). No later sync writes the data that the
// failed one did not write. So a sync can succeed although data is lost.
#define FILES 64
#define DESCRIPTORS 65536

static pthread_mutex_t failures_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t failure_count;
static struct { uint64_t file, last_failure; } failures[FILES];
static uint64_t reported[DESCRIPTORS]; // By descriptor: the last failure before its opening, or reported to it.

static void note_opened(int file) {
    if (file < 0 || file >= DESCRIPTORS) return;
    pthread_mutex_lock(&failures_lock);
    reported[file] = failure_count;
    pthread_mutex_unlock(&failures_lock);
}

// Returns whether a sync fails, because a rule makes it fail now, or because an earlier failure of the file was not yet
// reported to this descriptor.
static int fails(int file, uint64_t number, int fails_now) {
    if (file < 0 || file >= DESCRIPTORS) abort();
    pthread_mutex_lock(&failures_lock);
    int index = 0;
    while (index < FILES - 1 && failures[index].file && failures[index].file != number) index++;
    if (fails_now) {
        if (failures[index].file && failures[index].file != number) abort();
        failures[index].file = number;
        failures[index].last_failure = ++failure_count;
    }
    int result = failures[index].file == number && failures[index].last_failure > reported[file];
    reported[file] = failure_count;
    pthread_mutex_unlock(&failures_lock);
    return result;
}
