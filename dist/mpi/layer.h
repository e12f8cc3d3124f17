// The functions of MPI that package mpi uses. Constants of MPI are macros, which cgo cannot see. Handles are an int
// in one library and a pointer in another.

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

// Number of terms of a collective call: see (*Comm).meet.
enum { TERMS = 5 };

// A link is this process's end of the connection. It holds the buffers of non-blocking calls outside Go's memory, because a call that was
// given up may still use them.
typedef struct {
	MPI_Comm comm;
	MPI_Request request;
	int64_t mine[TERMS], all[TERMS];
} fdr_link;

enum { TAG_LENGTH, TAG_BYTES };

static inline int fdr_initialized(void) {
	int initialized = 0;
	MPI_Initialized(&initialized);
	return initialized;
}

// fdr_init starts MPI for calls from this thread alone. It uses a copy of MPI_COMM_WORLD, with the copy of its error handler.
static inline int fdr_init(fdr_link *l, int *rank, int *size, int *enough) {
	int provided = 0, code = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
	*enough = provided >= MPI_THREAD_FUNNELED;
	if (code == MPI_SUCCESS) code = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	if (code == MPI_SUCCESS) code = MPI_Comm_dup(MPI_COMM_WORLD, &l->comm);
	if (code == MPI_SUCCESS) code = MPI_Comm_rank(l->comm, rank);
	if (code == MPI_SUCCESS) code = MPI_Comm_size(l->comm, size);
	return code;
}

static inline int fdr_finalize(fdr_link *l) {
	int code = MPI_Comm_free(&l->comm);
	return code == MPI_SUCCESS ? MPI_Finalize() : code;
}

static inline int fdr_abort(fdr_link *l) { return MPI_Abort(l->comm, 1); }

static inline int fdr_test(fdr_link *l, int *done) {
	return MPI_Test(&l->request, done, MPI_STATUS_IGNORE);
}

static inline int fdr_imax(fdr_link *l) {
	return MPI_Iallreduce(l->mine, l->all, TERMS, MPI_INT64_T, MPI_MAX, l->comm, &l->request);
}

static inline int fdr_issend_length(fdr_link *l, int to) {
	return MPI_Issend(l->mine, 1, MPI_INT64_T, to, TAG_LENGTH, l->comm, &l->request);
}

static inline int fdr_irecv_length(fdr_link *l, int from) {
	return MPI_Irecv(l->all, 1, MPI_INT64_T, from, TAG_LENGTH, l->comm, &l->request);
}

static inline int fdr_send(fdr_link *l, void *b, int n, int to) {
	return MPI_Send(b, n, MPI_BYTE, to, TAG_BYTES, l->comm);
}

static inline int fdr_recv(fdr_link *l, void *b, int n, int from) {
	return MPI_Recv(b, n, MPI_BYTE, from, TAG_BYTES, l->comm, MPI_STATUS_IGNORE);
}

static inline int fdr_bcast(fdr_link *l, void *b, int n, int root) {
	return MPI_Bcast(b, n, MPI_BYTE, root, l->comm);
}

static inline int fdr_sum(fdr_link *l, void *x, int n) {
	return MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_DOUBLE, MPI_SUM, l->comm);
}

enum { ERROR_STRING = MPI_MAX_ERROR_STRING, VERSION_STRING = MPI_MAX_LIBRARY_VERSION_STRING };
