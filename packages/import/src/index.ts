import type { Importer } from './core/import-result.ts'
import { importAgentgateway } from './agentgateway/import-agentgateway.ts'
import { importCaddy } from './caddy/import-caddy.ts'
import { importEnvoy } from './envoy/import-envoy.ts'
import { importHaproxy } from './haproxy/import-haproxy.ts'
import { importKong } from './kong/import-kong.ts'
import { importLitellm } from './litellm/import-litellm.ts'
import { importNginx } from './nginx/import-nginx.ts'
import { importTraefik } from './traefik/import-traefik.ts'

export type { FindIncluded, GatewayChecks, ImportedConfig, ImportResult, PartProblem } from './core/import-result.ts'
export { printTests } from './core/config-yaml.ts'
export { IMPORT_FILES, type ImportTexts, printImport } from './core/print-import.ts'
export { entryLine, summaryLine } from './core/report.ts'
export { positionText, type SourceText } from './core/source.ts'

/** The gateways whose configs can be imported. */
export const importers = {
  agentgateway: importAgentgateway,
  caddy: importCaddy,
  envoy: importEnvoy,
  haproxy: importHaproxy,
  kong: importKong,
  litellm: importLitellm,
  nginx: importNginx,
  traefik: importTraefik,
} as const satisfies Readonly<Record<string, Importer>>

export type SourceKind = keyof typeof importers
