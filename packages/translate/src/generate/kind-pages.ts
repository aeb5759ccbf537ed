import { readFileSync } from 'node:fs'
import { allPolicies, inResource, printFields } from '@portico/gateway/schema'
import { API_GROUP, API_VERSION } from '../resources/api-group.ts'
import { type OwnKind, ownKinds } from '../resources/own-kinds.ts'

/**
 * Returns a page for each of our kinds: a handwritten introduction, and the fields. Contents by path from the root of the
 * project.
 */
export function kindPages(): Map<string, string> {
  return new Map(ownKinds.map((own) => [`docs/kinds/${own.kind.toLowerCase()}.md`, pageOf(own)]))
}

function pageOf({ kind, spec, shortNames, plural }: OwnKind): string {
  const written = readFileSync(new URL(`./kinds/${kind}.md`, import.meta.url), 'utf8')
  return [
    '<!-- Printed from the schemas by `npm run generate`; changes here are lost. -->',
    `# ${kind}`,
    '',
    `\`${API_GROUP}/${API_VERSION}\`, \`kubectl get ${shortNames[0] ?? plural}\`.`,
    '',
    written.trim(),
    '',
    '## Fields of `spec`',
    '',
    printFields(inResource(spec), pageOfField),
  ].join('\n')
}

/** Returns a link for the fields of policies, which have their own pages; null for all other fields. */
function pageOfField(path: string): string | null {
  const policy = allPolicies.find(({ section, name }) => path === `${section}.${name}`)
  if (policy !== undefined) return `[${path}](../reference/${policy.section}-${kebab(policy.name)}.md)`
  return /(^|\.)policies$/.test(path)
    ? '[the policies for backends](../policies.md#backend-connections-to-backends)'
    : null
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
