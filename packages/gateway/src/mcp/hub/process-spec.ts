import type { Ir, McpBackend, McpReached, McpTarget } from '../../ir/resources.ts'
import type { ProcessSpec } from './hub.ts'

type StdioReached = Extract<McpReached, { by: 'stdio' }>

/** The processes of a target that is reached by them. */
export function processSpec(
  { key, name, timeouts }: McpTarget,
  reached: StdioReached,
  { sessionIdleTimeout, maxMessageSize }: Pick<McpBackend, 'sessionIdleTimeout' | 'maxMessageSize'>,
): ProcessSpec {
  const { by: _, cwd, ...program } = reached
  return {
    ...{ key, name, ...program, cwd: cwd ?? null },
    idleTimeoutMs: sessionIdleTimeout,
    maxMessageBytes: maxMessageSize,
    startTimeoutMs: timeouts.start,
    beginTimeoutMs: timeouts.start + timeouts.initialize,
  }
}

/** What a process is made from, as text: equal ones are the same target. */
export function contentOf(spec: ProcessSpec): string {
  return JSON.stringify(Object.entries(spec).toSorted(([first], [second]) => (first < second ? -1 : 1)))
}

/** Contents of all processes of a config. */
export function processContents(ir: Ir): Set<string> {
  const contents = new Set<string>()
  for (const { target } of ir.backends) {
    if (target.kind !== 'mcp') continue
    for (const each of target.targets) {
      const { reached } = each
      if (reached.by === 'stdio') contents.add(contentOf(processSpec(each, reached, target)))
    }
  }
  return contents
}
