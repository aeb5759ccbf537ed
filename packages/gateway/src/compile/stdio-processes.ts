import type { Ir, McpBackend, McpReached, McpTarget } from '../ir/resources.ts'
import type { ProcessSpec } from '../mcp/hub.ts'
import { contentOf } from '../mcp/hub/process-content.ts'

type StdioReached = Extract<McpReached, { by: 'stdio' }>

/** `processSpec` describes the processes of a `stdio` target. */
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

/** `processContents` returns the contents of all processes of a config. */
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
