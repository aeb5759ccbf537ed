import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Guide } from './guide.ts'

interface QuickStartTools {
  /** As in a config file. */
  routes: object[]
  guide: Guide
}

/** The tools of a public server, where it is installed; it starts with the first session, not before. */
export function quickStartTools(script: string | null): QuickStartTools {
  if (script === null) {
    const serves = [`/mcp                  nothing yet: npm install ${SERVER}, and start again`]
    return { routes: [], guide: () => ({ serves, tries: [] }) }
  }
  const serves = [`/mcp                  tools of ${SERVER}, an MCP server on this machine`]
  return { routes: [routeTo(script)], guide: (port) => ({ serves, tries: triesOf(port) }) }
}

/** The program of the MCP server; null when it is not installed, as without development dependencies. */
export function findToolServer(): string | null {
  try {
    const file = createRequire(import.meta.url).resolve(`${SERVER}/package.json`)
    const { bin } = JSON.parse(readFileSync(file, 'utf8')) as { bin: Record<string, string> }
    const [program] = Object.values(bin)
    return program === undefined ? null : join(dirname(file), program)
  } catch {
    return null
  }
}

/** No hostnames are set: the MCP backend itself accepts only loopback names. */
function routeTo(script: string): object {
  const stdio = { cmd: process.execPath, args: [script, 'stdio'], maxProcesses: 16 }
  return {
    name: 'tools',
    matches: [{ path: { pathPrefix: '/mcp' } }, { path: { exact: '/sse' } }],
    backends: [{ mcp: { targets: [{ name: 'everything', stdio }] } }],
  }
}

function triesOf(port: number): string[] {
  const url = `http://127.0.0.1:${port}/mcp`
  return [
    `Claude Code, tools          claude mcp add --transport http portico ${url}`,
    `MCP Inspector               npx @modelcontextprotocol/inspector --cli ${url} --transport http --method tools/list`,
  ]
}

const SERVER = '@modelcontextprotocol/server-everything'
