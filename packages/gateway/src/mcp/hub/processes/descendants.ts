import { readdirSync, readFileSync } from 'node:fs'

/** The variable that every process a program starts inherits, whatever process group or session it moves to. */
export const MARK = 'PORTICO_STDIO_PROCESS'

/** Returns the ids of the running processes with this mark. Empty on systems without `/proc`. */
export function markedProcesses(mark: string): number[] {
  const wanted = `${MARK}=${mark}`
  return processIds().filter((pid) => environmentOf(pid).split('\0').includes(wanted))
}

function processIds(): number[] {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? Number(name) : []))
  } catch {
    return []
  }
}

/** Returns the environment of a process; empty for processes of other users, and for those that have ended. */
function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
  } catch {
    return ''
  }
}
