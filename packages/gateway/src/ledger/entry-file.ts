import * as fs from 'node:fs'
import type { LedgerEntry } from '../stores/store.ts'
import { readLines } from './entry-lines.ts'

/** Reads a file of entries whole. Throws when it is longer than `mostBytes`, or no plain file. */
export function readEntryFile(file: string, mostBytes: number): string {
  const fd = fs.openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const found = fs.fstatSync(fd)
    if (!found.isFile()) throw new Error(`${file} is no file`)
    if (found.size > mostBytes) throw new Error(`${file} is longer than ${mostBytes} bytes`)
    return fs.readFileSync(fd, 'utf8')
  } finally {
    fs.closeSync(fd)
  }
}

/** Passes the entries of a text to `deliver`, in portions; returns the number of unreadable lines. */
export async function deliverEntries(
  text: string,
  deliver: (entries: readonly LedgerEntry[]) => Promise<void>,
): Promise<number> {
  const { entries, unreadable } = readLines(text)
  for (let i = 0; i < entries.length; i += PORTION) await deliver(entries.slice(i, i + PORTION))
  return unreadable
}

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = fs.constants
const PORTION = 256
