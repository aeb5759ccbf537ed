import { existsSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import type { GatewayState } from '@portico/gateway/admin-api'
import { askAdmin } from '../requests/ask-admin.ts'
import type { AdminAddress } from '../trace/admin-address.ts'

/**
 * Returns the config file of a gateway on this machine; null when the gateway has no config file, or runs an earlier
 * version of the file.
 */
export async function liveConfigFile(admin: AdminAddress, token: string | null): Promise<string | null> {
  const asked = await askAdmin<GatewayState>({ admin, token, path: '/api/state' })
  if (asked.kind !== 'answer') return null
  const { source, problems } = asked.value
  return problems.length === 0 && isAbsolute(source) && existsSync(source) ? source : null
}
