import { parseAst } from 'rolldown/parseAst'

/**
 * Removes descriptions of schemas: only the generated pages and schemas need them, and each takes time and memory at every
 * start.
 */
export const withoutDescriptions = {
  name: 'without-descriptions',
  transform: {
    filter: { id: /\/packages\/gateway\/src\/.*schema.*\.ts$|\/packages\/gateway\/src\/schema\/.*\.ts$/ },
    handler: (code, id) => dropDescriptions(code, id),
  },
}

/** Drops every `.describe(...)`. */
export function dropDescriptions(code, id) {
  const drops = []
  visit(parseAst(code, { lang: 'ts' }, id), (node) => {
    if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return
    if (node.callee.computed || node.callee.property.name !== 'describe') return
    // From the dot on, because a parenthesis before it may belong to no node.
    drops.push([code.lastIndexOf('.', node.callee.property.start), node.end])
  })
  return drops
    .toSorted((a, b) => b[0] - a[0])
    .reduce((text, [start, end]) => text.slice(0, start) + text.slice(end), code)
}

function visit(node, look) {
  if (Array.isArray(node)) for (const item of node) visit(item, look)
  else if (typeof node === 'object' && node !== null) {
    if (typeof node.type === 'string') look(node)
    for (const value of Object.values(node)) visit(value, look)
  }
}
