import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

interface Stdio {
  cmd: string
  args: string[]
}

/** For `yaml.parse`: programs of MCP targets come from this installation instead of from the network. */
export function fromInstallation(key: unknown, value: unknown): unknown {
  return key === 'stdio' ? installed(value as Stdio) : value
}

function installed(stdio: Stdio): Stdio {
  const [yes, name = '', ...args] = stdio.args
  assert.deepEqual([stdio.cmd, yes], ['npx', '-y'])
  const file = createRequire(import.meta.url).resolve(`${name}/package.json`)
  const { bin } = JSON.parse(readFileSync(file, 'utf8')) as { bin: Record<string, string> }
  return { ...stdio, cmd: process.execPath, args: [join(dirname(file), Object.values(bin)[0]!), ...args] }
}
