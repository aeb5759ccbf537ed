import { lintCatalog } from '../lint/catalog.ts'

const MARK = '<!-- Made from the checks in packages/gateway/src/lint by `npm run generate`; changes here are lost. -->'

/** A page for each check of `porticoctl lint`, and an index of them. */
export function lintPages(): Map<string, string> {
  const catalog = lintCatalog()
  const rows = catalog.map(({ code, severity, summary }) => `| [${code}](${code}.md) | ${severity} | ${summary} |`)
  const intro = `The ${catalog.length} codes of \`porticoctl lint\`, with a page for each. [Lint](../lint.md) explains the command.`
  const index = [
    MARK,
    '# Checks of lint',
    '',
    intro,
    '',
    '| Code | Severity | What it finds |',
    '|---|---|---|',
    ...rows,
    '',
  ]
  return new Map([
    ['docs/lint/README.md', index.join('\n')],
    ...catalog.map(({ code, severity, summary, why, fix, bad, good }) => {
      const title = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`
      const lines = [
        ...[MARK, `# ${code}`, '', `${title} Severity: ${severity}.`, ''],
        ...['```yaml', bad.trimEnd(), '```', '', '## Why', '', why, '', '## Fix', '', fix, ''],
        ...['```yaml', good.trimEnd(), '```', '', '[All checks](README.md) · [lint](../lint.md)', ''],
      ]
      return [`docs/lint/${code}.md`, lines.join('\n')] as const
    }),
  ])
}
