// What failed syncs are to tell to whom.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

// On Linux a failed sync is reported once to each description that has the file open, whichever called it, and never to
// those opened afterwards; what it lost is lost to all of them (lib/errseq.c of the kernel, since 4.13). So a sync
// succeeds only where nothing was lost that it should have brought to disk.
#define FILES 64
#define DESCRIPTORS 65536

static pthread_mutex_t failures_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t failure_count;
static struct { uint64_t file, last_failure; } failures[FILES];
static uint64_t reported[DESCRIPTORS]; // The last failure before each was opened, or that was reported to it.

static void note_opened(int file) {
    if (file < 0 || file >= DESCRIPTORS) return;
    pthread_mutex_lock(&failures_lock);
    reported[file] = failure_count;
    pthread_mutex_unlock(&failures_lock);
}

// Whether a sync is to fail because it does now, or because another one did that was not reported to the descriptor.
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
