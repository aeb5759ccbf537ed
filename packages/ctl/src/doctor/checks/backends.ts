import type { DoctorCheck } from '../check.ts'
import { checkServers } from '../check-servers.ts'

/** Checks that backends and MCP servers accept connections. */
export const backends: DoctorCheck = {
  name: 'backends',
  summary: 'backends and MCP servers accept connections: TCP, TLS, HTTP version',
  run: (subject) => checkServers(subject, ['backend', 'mcp', 'provider']),
}
