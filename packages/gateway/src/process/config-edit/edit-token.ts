import { randomBytes } from 'node:crypto'

/** What has to be shown to change the config. */
export interface EditToken {
  token: string
  from: 'variable' | 'terminal'
}

/**
 * The admin token. Where nobody has set one, a program that somebody looks at makes one for this run: printed to a terminal
 * it is seen by those who started the program, and is in no log. Nothing else asks for it, so pages need no login.
 */
export function editTokenOf(variable: string | undefined, isOnTerminal: boolean): EditToken | null {
  if (variable) return { token: variable, from: 'variable' }
  return isOnTerminal ? { token: randomBytes(24).toString('base64url'), from: 'terminal' } : null
}
