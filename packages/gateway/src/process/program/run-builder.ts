import { spawn } from 'node:child_process'

export interface Built {
  /** Null when it failed. */
  folder: string | null
  /** The end of what it said. */
  said: string
}

/** Runs a script that prints the folder it has filled. Beside the gateway and with less right to the processor. */
export function runBuilder(script: string): { result: Promise<Built>; stop: () => void } {
  const child = spawn(process.execPath, [script], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] },
  })
  let folder = ''
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (folder += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-MOST_SAID)))
  const result = new Promise<Built>((resolve) => {
    child.once('error', (error) => resolve({ folder: null, said: error.message }))
    child.once('close', (code) => {
      const isFine = code === 0 && folder.trim() !== ''
      resolve({ folder: isFine ? folder.trim() : null, said: said.trim() || `the build ended with ${code}` })
    })
  })
  return { result, stop: () => void child.kill() }
}

const MOST_SAID = 4000
