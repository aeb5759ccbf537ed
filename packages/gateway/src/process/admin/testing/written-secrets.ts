import * as fc from 'fast-check'
import { Document, isCollection, isScalar, type Scalar, visit } from 'yaml'
import { nodeOf, type Schema } from '../../../schema/kit.ts'
import { configFile } from '../../../sources/schema.ts'

/** Ways to values that the definition of the config file calls secrets; `*` is a name of the user's. */
interface SecretPath {
  path: readonly (string | 0)[]
  type: string
}

export function secretPaths(): SecretPath[] {
  const found: SecretPath[] = []
  const walk = (schema: Schema, path: readonly (string | 0)[], around: readonly Schema[]): void => {
    // A definition may stand in itself.
    if (around.includes(schema)) return
    const node = nodeOf(schema)
    const inside = [...around, schema]
    if (node.kind === 'scalar' && node.secret) found.push({ path, type: node.type })
    else if (node.kind === 'list') walk(node.item, [...path, 0], inside)
    else if (node.kind === 'map') walk(node.value, [...path, '*'], inside)
    else if (node.kind === 'object')
      for (const [name, field] of Object.entries(node.fields)) walk(field, [...path, name], inside)
  }
  walk(configFile, [], [])
  return found
}

interface TextWithSecrets {
  text: string
  secrets: string[]
}

const STYLES = ['PLAIN', 'QUOTE_DOUBLE', 'QUOTE_SINGLE', 'BLOCK_FOLDED', 'BLOCK_LITERAL'] as const
const COMMENTS = [
  () => ' for everybody',
  (secret: string) => ` was ${secret}`,
  (secret: string) => ` alice: ${secret}, and others`,
  (secret: string) => ` - "${secret}"`,
  (secret: string) => ` auth: { key: ${secret} }`,
]

/** Files with secrets in some of these places, in any style, with comments and anchors that have them, too. */
export function written(places: readonly SecretPath[]): fc.Arbitrary<TextWithSecrets> {
  const entry = fc.record({
    place: fc.constantFrom(...places),
    name: fc.constantFrom('alice', 'bob', 'key', 'x-y'),
    digits: fc.stringMatching(/^[\w-]{4,16}$/),
    form: fc.constantFrom('text', 'key', 'keyHash'),
    style: fc.constantFrom(...STYLES),
    isAnchor: fc.boolean(),
    comment: fc.option(fc.constantFrom(...COMMENTS)),
  })
  const flowing = fc.array(fc.boolean(), { minLength: 1, maxLength: 20 })
  return fc
    .record({
      // A second secret at the same place would replace the first.
      entries: fc.uniqueArray(entry, { minLength: 1, maxLength: 4, selector: ({ place }) => place }),
      flows: flowing,
    })
    .map(({ entries, flows }) => {
      const document = new Document({})
      // Anchors stand before their aliases, whatever else comes.
      for (const [index, { isAnchor }] of entries.entries()) if (isAnchor) document.set(`shared${index}`, null)
      const secrets = entries.map(({ digits }, index) => `S3CRET-${index}-${digits}`)
      for (const [index, { place, name, form, style, isAnchor, comment }] of entries.entries()) {
        const secret = secrets[index] ?? ''
        const path = place.path.map((step) => (step === '*' ? name : step))
        const scalar = document.createNode(secret) as Scalar
        scalar.type = style
        if (comment !== null) scalar.comment = comment(secret)
        const isEntry = place.type === 'API key' && form !== 'text'
        if (isAnchor) document.set(`shared${index}`, scalar)
        const value = isAnchor ? document.createAlias(scalar, `a${index}`) : scalar
        document.setIn(isEntry ? [...path, form] : path, value)
      }
      let at = 0
      visit(document, (_, node) => {
        if (isCollection(node)) node.flow = flows[at++ % flows.length] ?? false
        // A block scalar has no place in a flow, and a comment needs a line of its own.
        if (isScalar(node) && node.type === undefined) node.type = 'PLAIN'
      })
      // Texts that are cut into lines by the writer need not say the same any more.
      return { text: document.toString({ lineWidth: 0 }), secrets }
    })
}
