import { fileURLToPath } from 'node:url'

/** A target that starts a program of `node_modules`, as `npx` would. */
export function programTarget(name: string, program: string, more: object = {}): object {
  const { args = [], ...rest } = more as { args?: string[] }
  return { name, stdio: { cmd: process.execPath, args: [moduleFile(program), ...args], ...rest } }
}

/** A target that starts the tiny server: a shell script, so that a thousand of them cost little. */
export function tinyTarget(name: string, mark: string, more: object = {}): object {
  return { name, stdio: { cmd: 'sh', args: [TINY, mark], ...more } }
}

export function moduleFile(path: string): string {
  return fileURLToPath(new URL(`../../node_modules/@modelcontextprotocol/${path}`, import.meta.url))
}

const TINY = fileURLToPath(new URL('tiny-server.sh', import.meta.url))
