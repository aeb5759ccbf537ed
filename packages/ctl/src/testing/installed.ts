import { execFileSync } from 'node:child_process'

/** A reason to skip a test when a program is not installed, else false. */
export function skipWithout(program: 'bash' | 'curl' | 'tmux'): string | false {
  try {
    execFileSync(program, [program === 'tmux' ? '-V' : '--version'], { stdio: 'ignore' })
    return false
  } catch {
    return `${program} is not installed`
  }
}
