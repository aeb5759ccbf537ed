import { conditionTypes, reasons } from '../resources/reasons.ts'

/** Returns docs/troubleshooting.md: the meaning of conditions and reasons, with fixes. */
export function troubleshootingPage(): string {
  return `# When a resource does not do what it should

The status of every resource shows whether it works. One command checks the whole path, from the Gateway to the addresses of
Services, and names the first broken link:

\`\`\`sh
porticoctl status httproute/orders -n shop
\`\`\`

[porticoctl](porticoctl.md#what-is-wrong) has the details. If no link is broken and a request still fails,
\`porticoctl trace gateway/<name>\` shows how it is decided, and \`porticoctl effective gateway/<name>\` which policies apply
where.

## Conditions

${table(
  ['Condition', 'On', 'Should be', 'Meaning'],
  Object.entries(conditionTypes).map(([type, { on, should, means }]) => [`\`${type}\``, on, should, means]),
)}
\`observedGeneration\` says which version of the resource a condition is about. When it is behind \`metadata.generation\`, the
controller has not processed the last change. A resource of another controller's class has no entry of \`portico.dev/gateway\`.

## Reasons

${table(
  ['Reason', 'On', 'Meaning', 'What to do'],
  Object.entries(reasons).map(([reason, { on, means, fix }]) => [`\`${reason}\``, on, means, fix ?? 'Nothing to do.']),
)}
## Without a condition

| What you see | What to do |
|---|---|
| a route without a status of \`portico.dev/gateway\` | none of its \`parentRefs\` refers to a Gateway of class \`portico\`: check name, namespace and kind of the parent, and \`gatewayClassName\` of the Gateway |
| a Gateway without conditions, or \`Unknown\` | there is no GatewayClass of this name with the controller name \`portico.dev/gateway\`, or the controller does not run |
| conditions are fine, requests get 503 | no Pod of the Service is ready: \`porticoctl status\` names the Service |
| conditions are fine, requests get 404 | no route matches: \`porticoctl trace\` shows which routes were evaluated |
| a policy is attached and does nothing | a nearer policy sets the same field: \`porticoctl effective\` shows which one wins |
`
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  return `${lines
    .join('\n')
    .replace(/\| --- (?=\|)/g, '|---')
    .replace('--- |\n', '---|\n')}\n`
}
