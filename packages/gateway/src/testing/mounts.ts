import { execFileSync } from 'node:child_process'
import type { TestContext } from 'node:test'
import { PROGRAM } from './process.ts'

/** File systems as containers have them, seen by one program alone. */

export function canMount(t: TestContext): boolean {
  try {
    execFileSync('unshare', ['--mount', 'sh', '-c', 'mount --bind /tmp /tmp'], { stdio: 'ignore' })
    return true
  } catch {
    t.skip('no right to mount anything here')
    return false
  }
}

/** The program, after a script in which `$1` and `$2` are these paths. */
export function withMounts(script: string, one: string, other: string): string[] {
  const inside = ['unshare', '--mount', 'sh', '-c', `${script} && shift 2 && exec "$@"`, 'sh', one, other]
  return [...inside, process.execPath, PROGRAM]
}
