import { constants, fstatSync, openSync } from 'node:fs'

export interface LineDescriptor {
  fd: number
  /** The most bytes of an atomic write, for descriptors that several threads write to. */
  maxChunk: number
  /** Whether a synchronous write never blocks, but fails with EAGAIN when there is no room. */
  nonBlocking: boolean
}

/** Returns how to write whole lines to a descriptor that several threads of the process share. */
export function lineDescriptor(fd: number): LineDescriptor {
  try {
    const stat = fstatSync(fd)
    if (stat.isFIFO()) return reopenPipe(fd)
    return { fd, maxChunk: stat.isSocket() ? PIPE_BUF : FILE_CHUNK, nonBlocking: false }
  } catch {
    // A closed descriptor fails at the first write.
    return { fd, maxChunk: FILE_CHUNK, nonBlocking: false }
  }
}

// POSIX guarantees atomic writes to a pipe only up to PIPE_BUF bytes.
const PIPE_BUF = 4096
const FILE_CHUNK = 256 * 1024

/** Opens the pipe again in non-blocking mode: a direct write of 4 KiB costs a tenth of a write through the thread pool. */
function reopenPipe(fd: number): LineDescriptor {
  try {
    const own = openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK)
    return { fd: own, maxChunk: PIPE_BUF, nonBlocking: true }
  } catch {
    // No /proc, or a pipe of another user.
    return { fd, maxChunk: PIPE_BUF, nonBlocking: false }
  }
}
