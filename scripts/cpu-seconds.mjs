import { readFileSync } from 'node:fs'

/** The kernel's unit of CPU times in /proc. */
const TICKS_PER_SECOND = 100

/** Returns the CPU seconds that this process and its ended children have used. Children count only on Linux. */
export function cpuSeconds() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6 + childSeconds()
}

function childSeconds() {
  try {
    // The name of the program, in parentheses, may contain spaces.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1).split(' ')
    return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND
  } catch {
    return 0
  }
}
