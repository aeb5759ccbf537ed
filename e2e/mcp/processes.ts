import { readdirSync, readFileSync } from 'node:fs'

/** Numbers of the live processes whose command line has this word. Linux only. */
export function processesWith(word: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => commandOf(name).includes(word))
    .map(Number)
}

/** Empty when it has just ended, and for one that has ended and waits for its parent. */
function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}
