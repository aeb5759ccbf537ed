import { constants, fstatSync, openSync } from 'node:fs'

export interface LineDescriptor {
  fd: number
  /** Bytes that go in one piece even when several threads write to the descriptor. */
  maxChunk: number
  /** A synchronous write returns at once, with EAGAIN when there is no room. */
  nonBlocking: boolean
}

/** Finds out how whole lines are best written to a descriptor that other threads of the process write to as well. */
export function lineDescriptor(fd: number): LineDescriptor {
  try {
    const stat = fstatSync(fd)
    if (stat.isFIFO()) return reopenPipe(fd)
    return { fd, maxChunk: stat.isSocket() ? PIPE_BUF : FILE_CHUNK, nonBlocking: false }
  } catch {
    // A closed descriptor shows itself at the first write.
    return { fd, maxChunk: FILE_CHUNK, nonBlocking: false }
  }
}

// POSIX lets writers to one pipe mix what is longer than PIPE_BUF.
const PIPE_BUF = 4096
const FILE_CHUNK = 256 * 1024

/** A write of 4 KiB through the thread pool costs ten times the system call, so a pipe gets a description of our own that never blocks. */
function reopenPipe(fd: number): LineDescriptor {
  try {
    const own = openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK)
    return { fd: own, maxChunk: PIPE_BUF, nonBlocking: true }
  } catch {
    // No /proc, or a pipe of another user.
    return { fd, maxChunk: PIPE_BUF, nonBlocking: false }
  }
}
