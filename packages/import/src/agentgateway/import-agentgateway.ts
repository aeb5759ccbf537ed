import type { FindIncluded, GatewayChecks, ImportedConfig, ImportResult } from '../core/import-result.ts'
import { sortReport } from '../core/report.ts'
import { problemsOf, SourceError, type SourceText } from '../core/source.ts'
import { type Field, readYaml } from '../core/yaml-field.ts'
import { readNamedBackend } from './backends/backends.ts'
import { NamedBackends } from './backends/named-backends.ts'
import { behaviorOf } from './behavior.ts'
import { type Effects, NO_EFFECTS } from './policies/effects.ts'
import { readBinds } from './routes/binds.ts'
import { Environment } from './values/environment.ts'

/** Imports the config file of agentgateway. */
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
  const late: Effects = { policies: {}, status: closedByOthers(root) ? 403 : null }
  const binds = readBinds(root.get('binds')?.items ?? [], named.scope, () => ({ early: NO_EFFECTS, late }))
  if (binds.length === 0) throw new SourceError(root.at, 'found no port that can be imported, expected binds')
  named.noteUnused()
  const config = {
    ...(named.printed.length > 0 && { backends: named.printed }),
    binds: binds.map(({ printed }) => printed),
  }
  return { config, report: sortReport(root.reportOf(), [source.name]), behavior: behaviorOf(binds, env.values) }
}

/** Sections that limit access to all ports. */
function closedByOthers(root: Field): boolean {
  const sections = [root.get('policies'), root.get('frontendPolicies')?.get('networkAuthorization') ?? null]
  for (const field of sections) field?.notCarried('all requests get 403 until you replace it', true)
  return sections.some((field) => field !== null)
}
