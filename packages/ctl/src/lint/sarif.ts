import { lintCatalog, type LintFinding } from '@portico/gateway/lint'
import { isAbsolute } from 'node:path'
import { pathToFileURL } from 'node:url'
import { VERSION } from '../version.ts'

/** The report in SARIF 2.1.0, which code hosts and editors read. */
export function sarifReport({ findings }: { readonly findings: readonly LintFinding[] }): string {
  const pages = lintCatalog()
  const others = [...new Set(findings.map(({ code }) => code))].filter(
    (code) => !pages.some((page) => page.code === code),
  )
  const rules = [
    ...pages.map(({ code, severity, summary, why, fix }) => ({
      id: code,
      shortDescription: { text: capital(summary) },
      fullDescription: { text: why },
      help: { text: fix },
      defaultConfiguration: { level: severity },
    })),
    ...others.map((code) => ({ id: code, shortDescription: { text: 'The gateway rejects this config' } })),
  ]
  const indexByCode = new Map(rules.map(({ id }, index) => [id, index]))
  const results = findings.map(({ code, severity, location, message, fix }) => ({
    ruleId: code,
    ruleIndex: indexByCode.get(code) ?? -1,
    level: severity,
    message: { text: fix === null ? message : `${message}. ${fix}` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(location.file) },
          region: { startLine: location.line, startColumn: location.column },
        },
        ...(location.path !== '' && { logicalLocations: [{ fullyQualifiedName: location.path }] }),
      },
    ],
  }))
  const driver = { name: 'porticoctl lint', version: VERSION, rules }
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver }, columnKind: 'utf16CodeUnits', results }],
  }
  return `${JSON.stringify(log, null, 2)}\n`
}

/** Returns the URI of a file; a relative path gives a relative URI. */
export function uriOf(file: string): string {
  if (isAbsolute(file)) return pathToFileURL(file).href
  return file.split(/[/\\]/).map(encodeURIComponent).join('/')
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
