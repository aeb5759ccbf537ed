import { closeSync, openSync, readSync } from 'node:fs'

const DEVICE = '/dev/urandom'

/**
 * `systemRandom` returns random bytes for keys, from the random number generator of the operating system. Unlike
 * `randomBytes` of `node:crypto`, it does not load that module, which takes 4 MB and 5 ms that a plain config saves.
 */
export function systemRandom(size: number, device = DEVICE): Buffer {
  const bytes = Buffer.alloc(size)
  return readFrom(device, bytes) ? bytes : generated(size)
}

/** Fills the buffer; returns false when the system has no such device, or it does not fill the buffer. */
function readFrom(device: string, bytes: Buffer): boolean {
  let descriptor: number
  try {
    descriptor = openSync(device, 'r')
  } catch {
    return false
  }
  try {
    return readSync(descriptor, bytes, 0, bytes.length, null) === bytes.length
  } catch {
    return false
  } finally {
    closeSync(descriptor)
  }
}

function generated(size: number): Buffer {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(size)))
}
