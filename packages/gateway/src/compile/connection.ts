import { applyHealth } from '../policies/backend/health/settings.ts'
import { applyHttp } from '../policies/backend/http/settings.ts'
import { applyTcp } from '../policies/backend/tcp/settings.ts'
import { applyTls } from '../policies/backend/tls/settings.ts'
import type { BackendPolicies } from '../policies/index.ts'
import type { BackendStepName } from '../policies/order.ts'
import { type ConnectionDefaults, type ConnectionSettings, defaultSettings } from '@portico/http/client'

/**
 * Policies that configure the connection to a backend. `tunnel` needs another backend, `ai` and `mcp` configure messages,
 * and `retryBudget` and `sessionPersistence` are about several requests.
 */
type OtherName = BackendStepName | 'tunnel' | 'ai' | 'mcp' | 'prices' | 'retryBudget' | 'sessionPersistence'
type SettingName = Exclude<keyof BackendPolicies, OtherName>

const applyByName: {
  [Name in SettingName]: (settings: ConnectionSettings, config: NonNullable<BackendPolicies[Name]>) => void
} = {
  tcp: applyTcp,
  tls: applyTls,
  http: applyHttp,
  health: applyHealth,
}

export function connectionSettings(policies: BackendPolicies, defaults: ConnectionDefaults): ConnectionSettings {
  const settings = defaultSettings(defaults)
  for (const name of Object.keys(applyByName) as SettingName[]) applyOne(name, policies, settings)
  return settings
}

function applyOne(name: SettingName, policies: BackendPolicies, settings: ConnectionSettings): void {
  const config = policies[name]
  if (config === undefined) return
  // Name and config belong together by the type of `applyByName`, which the compiler cannot follow through a variable.
  const apply = applyByName[name] as (settings: ConnectionSettings, config: unknown) => void
  apply(settings, config)
}
