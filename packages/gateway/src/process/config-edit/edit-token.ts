import { randomBytes } from 'node:crypto'

/** The token that requests need to change the config. */
export interface EditToken {
  token: string
  from: 'variable' | 'terminal'
}

/**
 * The admin token. When none is set, a program on a terminal creates one for this run and prints it there: the person who
 * started the program sees the token, and no log has it. Only edits ask for it, so pages need no login.
 */
export function editTokenOf(variable: string | undefined, isOnTerminal: boolean): EditToken | null {
  if (variable) return { token: variable, from: 'variable' }
  return isOnTerminal ? { token: randomBytes(24).toString('base64url'), from: 'terminal' } : null
}
