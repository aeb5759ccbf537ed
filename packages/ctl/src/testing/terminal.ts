import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { skipWithout } from './installed.ts'
import { PROGRAM } from './program.ts'

const run = promisify(execFile)

/** The reason to skip a test, or false. */
export const noTerminal: string | false = skipWithout('tmux')

interface Terminal {
  /** The screen as text; with `colours`, including color escape sequences. */
  screen(options?: { colours: boolean }): Promise<string>
  /** Presses keys by their names in tmux, such as `Down`, `PPage`, `C-c`, or letters. */
  press(...keys: string[]): Promise<void>
  /** Waits until the screen matches, and returns it. */
  shows(pattern: RegExp): Promise<string>
  resize(columns: number, rows: number): Promise<void>
}

export interface TerminalOptions {
  columns?: number
  rows?: number
  env?: Readonly<Record<string, string>>
  node?: string
}

/** Runs the program in a tmux terminal; the shell prints `[exit <code>]` at its end. */
export async function useTerminal(
  t: TestContext,
  args: readonly string[],
  { columns = 120, rows = 40, env = {}, node = process.execPath }: TerminalOptions = {},
): Promise<Terminal> {
  const folder = mkdtempSync(join(tmpdir(), 'porticoctl-'))
  const options = { env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', TMUX_TMPDIR: folder } }
  const tmux = async (...words: string[]) =>
    (await run('tmux', ['-u', '-L', 'test', '-f', '/dev/null', ...words], options)).stdout
  t.after(async () => {
    await tmux('kill-server').catch(() => {})
    rmSync(folder, { recursive: true, force: true })
  })
  // Set inside the terminal, because tmux sets its own TERM.
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const command = `${['env', ...variables, node, PROGRAM, ...args].map(quote).join(' ')}; echo "[exit $?]"; exec cat`
  await tmux('new-session', '-d', '-x', String(columns), '-y', String(rows), command)
  const screen: Terminal['screen'] = ({ colours } = { colours: false }) =>
    tmux('capture-pane', '-p', ...(colours ? ['-e'] : []))
  return {
    screen,
    press: async (...keys) => void (await tmux('send-keys', ...keys)),
    async shows(pattern) {
      const limit = performance.now() + 20_000
      for (;;) {
        const text = await screen()
        if (pattern.test(text)) return text
        if (performance.now() > limit) throw new Error(`never showed ${pattern}:\n${text}`)
        await delay(30)
      }
    },
    resize: async (width, height) => void (await tmux('resize-window', '-x', String(width), '-y', String(height))),
  }
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
