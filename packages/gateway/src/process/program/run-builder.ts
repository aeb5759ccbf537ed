import { spawn } from 'node:child_process'

export interface BuildResult {
  /** The folder of the result; null when the build failed. */
  folder: string | null
  /** The end of its standard error. */
  said: string
}

/** Runs a script that prints the folder of its result, in a process of its own. */
export function runBuilder(script: string): { result: Promise<BuildResult>; stop: () => void } {
  const child = spawn(process.execPath, [script], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] },
  })
  let folder = ''
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (folder += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-MOST_SAID)))
  const result = new Promise<BuildResult>((resolve) => {
    child.once('error', (error) => resolve({ folder: null, said: error.message }))
    child.once('close', (code) => {
      const isFine = code === 0 && folder.trim() !== ''
      resolve({ folder: isFine ? folder.trim() : null, said: said.trim() || `the build ended with ${code}` })
    })
  })
  return { result, stop: () => void child.kill() }
}

const MOST_SAID = 4000
