import type { Ir, McpTarget } from '../../ir/resources.ts'
import type { ProcessSpec } from './hub.ts'

/** The processes of a target; null when it has none. */
export function processSpec({ key, name, reached }: McpTarget, idleTimeoutMs: number): ProcessSpec | null {
  if (reached.by !== 'stdio') return null
  const { cmd, args, env, clearEnv, cwd = null, processes, maxProcesses } = reached
  return { key, name, cmd, args, env, clearEnv, cwd, processes, maxProcesses, idleTimeoutMs }
}

/** What a process is made from, as text: equal ones are the same target. */
export function contentOf(spec: ProcessSpec): string {
  const { key, name, cmd, args, env, clearEnv, cwd, processes, maxProcesses, idleTimeoutMs } = spec
  return JSON.stringify([key, name, cmd, args, env, clearEnv, cwd, processes, maxProcesses, idleTimeoutMs])
}

/** Contents of all processes of a config. */
export function processContents(ir: Ir): Set<string> {
  const contents = new Set<string>()
  for (const { target } of ir.backends) {
    if (target.kind !== 'mcp') continue
    for (const each of target.targets) {
      const spec = processSpec(each, target.sessionIdleTimeout)
      if (spec !== null) contents.add(contentOf(spec))
    }
  }
  return contents
}
