import type { FindIncluded, GatewayChecks, ImportedConfig, ImportResult } from '../core/import-result.ts'
import { sortReport } from '../core/report.ts'
import { problemsOf, SourceError, type SourceText } from '../core/source.ts'
import { readYaml } from '../core/yaml-field.ts'
import { readNamedBackend } from './backends/backends.ts'
import { NamedBackends } from './backends/named-backends.ts'
import { behaviorOf } from './behavior.ts'
import { readFrontend } from './frontend.ts'
import { readLlm } from './llm/llm.ts'
import { readProcessConfig } from './process-config.ts'
import { readBinds } from './routes/binds.ts'
import { bindsOfGateways, bindsOfMcp } from './routes/gateways.ts'
import type { SharedPolicies } from './routes/listeners.ts'
import { readTargetedPolicies } from './routes/targeted-policies.ts'
import type { ClosedStatus } from './values/convert.ts'
import { Environment } from './values/environment.ts'

export function importAgentgateway(
  sources: readonly SourceText[],
  _find: FindIncluded,
  checks: GatewayChecks,
): ImportResult {
  return problemsOf(() => {
    const [source, second] = sources
    if (source === undefined) throw new SourceError({ file: '', line: 1, column: 1 }, 'found no file')
    if (second !== undefined) {
      throw new SourceError(
        { file: second.name, line: 1, column: 1 },
        'found a second file; agentgateway has one config file',
      )
    }
    return importFile(source, checks)
  })
}

function importFile(source: SourceText, checks: GatewayChecks): ImportedConfig {
  const root = readYaml(source)
  if (!root.isMapping) throw new SourceError(root.at, 'found no mapping, expected the config of agentgateway')
  const env = new Environment()
  const named = new NamedBackends(root.get('backends'), { env, checks }, readNamedBackend)
  const { scope } = named
  const frontend = readFrontend(root.get('frontendPolicies'), scope)
  const { config: settings, frontend: old } = readProcessConfig(root.get('config'), scope)
  const mcp = root.get('mcp')
  const fields = [...(root.get('binds')?.items ?? []), ...bindsOfGateways(root), ...bindsOfMcp(mcp)]
  const shared = readTargetedPolicies(root.get('policies'), scope)
  const binds = readBinds(fields, scope, (port, name) => withStatus(shared(port, name), frontend.status))
  const field = root.get('llm')
  const read = field === null || frontend.status !== null ? null : readLlm(field, scope, shared)
  const isTaken = binds.some(({ port }) => port === read?.port)
  if (isTaken) field?.notCarried('an earlier bind has this port', true)
  const llm = isTaken ? null : read
  if (frontend.status !== null)
    field?.notCarried('frontendPolicies cannot be imported as a whole, so the port is not opened', true)
  if (binds.length === 0 && llm === null)
    throw new SourceError(root.at, 'found no port that can be imported, expected binds, gateways, llm or mcp')
  named.noteUnused()
  for (const [name, note] of Object.entries(SECTIONS)) root.get(name)?.notCarried(note)
  const all: Record<string, unknown> = { ...old, ...frontend.policies }
  if (binds.some(({ listeners }) => listeners.some(({ isModern }) => isModern)))
    all['tls'] = { ...(all['tls'] as object | undefined), minProtocolVersion: '1.3' }
  const config = {
    ...(Object.keys(settings).length > 0 && { config: settings }),
    ...(Object.keys(all).length > 0 && { frontend: all }),
    ...(named.printed.length > 0 && { backends: named.printed }),
    ...(binds.length > 0 && { binds: binds.map(({ printed }) => printed) }),
    ...(llm !== null && { llm: llm.printed }),
  }
  const limits = ['networkAuthorization', 'proxyProtocol'].some((name) => name in all)
  const behavior = behaviorOf(limits ? [] : binds, limits ? [] : (llm?.tests ?? []), env.values)
  return { config, report: sortReport(root.reportOf(), [source.name]), behavior }
}

const SECTIONS: Readonly<Record<string, string>> = {
  services: 'Portico does not discover services of a mesh; configure their addresses in backends',
  workloads: 'Portico does not discover workloads of a mesh; configure their addresses in backends',
  routeGroups: 'Portico has no route groups; write the routes into the listeners',
  ui: 'Portico serves its web UI on the admin server: docs/ui.md',
}

/** Closes the routes of a listener when `frontendPolicies` could not be imported as a whole. */
function withStatus(shared: SharedPolicies, status: ClosedStatus | null): SharedPolicies {
  return status === null ? shared : { ...shared, late: { ...shared.late, status: 403 } }
}
