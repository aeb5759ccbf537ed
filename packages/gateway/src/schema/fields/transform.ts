import {
  bool,
  bytes,
  duration,
  list as celList,
  nullType,
  number,
  oneOf,
  scalar,
  string,
  timestamp,
} from '@portico/cel/declare'
import type { ExpressionPhase } from '../../expressions/variables.ts'
import { expression } from './expression.ts'
import { transformableHeaderName } from './http-parts.ts'
import { list, map, object } from '../kit.ts'

/** The types that `pipeline/views/header-lines.ts` can write, and null, which means no header. */
const headerLines = oneOf(
  ...[bool, number, string, bytes, timestamp, duration, celList, nullType],
  ...['net.IP', 'net.CIDR', 'secret', 'flattened'].map(scalar),
)

const headerLists = { min: 1, max: 16 }

/** The changes to one message. */
export function transform(message: 'request' | 'response', phase: ExpressionPhase) {
  const pseudo = message === 'request' ? [':authority', ':method', ':path'] : [':status']
  const header = object({
    name: transformableHeaderName(pseudo).describe(
      `Name of the header; ${pseudo.map((name) => `\`${name}\``).join(', ')} change the start line.`,
    ),
    value: expression(phase, headerLines).describe(
      'The value: a string, bytes, a number, a boolean, or a list of these, one header line for each.',
    ),
  }).describe('A header.')
  return object({
    set: list(header, headerLists)
      .optional()
      .describe(
        `Headers of the ${message} that replace all headers of the same name, also if spelled with \`_\` or \`.\` for \`-\`. A header whose expression fails is removed.`,
      ),
    add: list(header, headerLists)
      .optional()
      .describe(
        `Headers appended to the ${message}; headers of the same name stay. A header whose expression fails is omitted.`,
      ),
    remove: list(transformableHeaderName([]).describe('Name of a header.'), headerLists)
      .optional()
      .describe(`Headers removed from the ${message}, also if spelled with \`_\` or \`.\` for \`-\`.`),
    body: expression(phase)
      .optional()
      .describe('The new body: strings and bytes unchanged, other values as JSON. Empty when the expression fails.'),
    metadata: map(expression(phase).describe('The value.'), { min: 1, max: 16 })
      .optional()
      .describe(
        'Values for later expressions and logs, as `metadata.<name>`; each expression can read the values before it.',
      ),
  }).describe(`Changes to the ${message}. The order is metadata, add, set, remove, body.`)
}
