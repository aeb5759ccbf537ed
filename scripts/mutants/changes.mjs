// The small changes to a source file that some test must notice.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAst } from 'rolldown/parseAst'

const OPPOSITE = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '&&': '||',
  '||': '&&',
  '??': '&&',
}

/** Reversed comparisons. */
const REVERSED = { '<': '>=', '<=': '>', '>': '<=', '>=': '<' }

/** Returns every small change of a file that could matter. */
export function mutantsOf(root, file) {
  const text = readFileSync(join(root, file), 'utf8')
  const found = []
  const bounds = new Set()
  const put = (start, end, by, what) =>
    found.push({ file, start, end, by, what, line: text.slice(0, start).split('\n').length })
  walk(parseAst(text, { lang: 'ts', sourceType: 'module' }), null, (node, parent) => {
    if (isSilent(node, text)) return false
    if (isTypedDefault(node, parent)) return false
    switch (node.type) {
      case 'ForStatement':
      case 'WhileStatement':
        bounds.add(firstCondition(node.test))
        break
      case 'BinaryExpression':
      case 'LogicalExpression':
        if (bounds.has(node) && isEndOfList(node)) put(node.start, node.end, 'false', 'loop is left out')
        else putOpposite(node, text, put)
        break
      case 'UnaryExpression':
        if (node.operator === '!') put(node.start, node.start + 1, '', '! is removed')
        break
      case 'IfStatement': {
        const isEarly = node.consequent.type === 'ReturnStatement' && node.alternate === null
        if (isEarly) put(node.start, node.end, ';', 'early return is removed')
        else put(node.test.start, node.test.end, `!(${textAt(node.test, text)})`, 'condition is negated')
        break
      }
      case 'Literal':
        if (typeof node.value === 'boolean') put(node.start, node.end, String(!node.value), `${node.value} is negated`)
        else if (typeof node.value === 'number' && parent?.type !== 'Property')
          put(node.start, node.end, `(${node.raw} + 1)`, `${node.raw} is one more`)
        break
    }
    return true
  })
  return found
}

function putOpposite(node, text, put) {
  const { operator, left, right } = node
  const sides = [left, right]
  const isOpen = sides.some((side) => isInstant(side) || isChosenLimit(side)) || sides.every(isDuration)
  const by = (isOpen ? REVERSED[operator] : undefined) ?? OPPOSITE[operator]
  const isText = operator === '+' && [left, right].some(isTextNode)
  const at = text.indexOf(operator, left.end)
  if (by === undefined || isText || at === -1 || at >= right.start) return
  put(at, at + operator.length, by, `${operator} becomes ${by}`)
}

/** Whether the condition is `i < list.length` of a loop: one element further is `undefined`, which most loops skip. */
function isEndOfList({ operator, right }) {
  return operator === '<' && /^(length|end)$/.test(nameOf(right))
}

/** The first condition of `a && b && c`: a loop ends where the first condition does not hold. */
function firstCondition(test) {
  return test?.type === 'LogicalExpression' && test.operator === '&&' ? firstCondition(test.left) : test
}

/**
 * Whether the node is the 0 of `bytes[at] ?? 0` or `[first = 0] = list`: the type checker asks for it where the index is
 * within the list.
 */
function isTypedDefault(node, parent) {
  if (node.type === 'ArrayPattern') for (const item of node.elements) if (isDefault(item)) typedDefaults.add(item.right)
  if (typedDefaults.has(node)) return true
  if (node.type !== 'Literal' || parent?.type !== 'LogicalExpression' || parent.operator !== '??') return false
  return parent.right === node && parent.left.type === 'MemberExpression' && parent.left.computed
}

/** The default values in patterns of lists. */
const typedDefaults = new WeakSet()

function isDefault(item) {
  return item?.type === 'AssignmentPattern' && item.right.type === 'Literal'
}

/** Whether the value is a limit that was chosen: one more is as good, so that the border may lie on either side. */
function isChosenLimit(node) {
  return /^(\w+_)?(MAX|MOST|LARGE|LIMIT|MS|BYTES)(_\w+)?$/.test(nameOf(node))
}

/** Whether the value is read from a microsecond clock: no test can hit its border, and either side is correct. */
function isInstant(node) {
  if (node.type === 'BinaryExpression') return node.operator === '-' && [node.left, node.right].some(isInstant)
  if (node.type === 'CallExpression') return /^(now|monotonic)$/.test(nameOf(node.callee))
  return /^(now|\w*[a-z]At)$/.test(nameOf(node))
}

/** Whether the value is a number of milliseconds: two of them are never equal, unless a test stops the clock. */
function isDuration(node) {
  return /Ms$/.test(nameOf(node))
}

function nameOf(node) {
  return node.type === 'MemberExpression' ? (node.property.name ?? '') : (node.name ?? '')
}

/**
 * Parts whose changes no test should see, because nobody could:
 * - types, imports, and words for people (messages of errors, logs, traces);
 * - values of constants in capitals at the top of a file, products of them in members of objects, and lengths of typed
 *   arrays: sizes and times that were chosen, where one more is as good;
 * - first numbers of fields that are not counters, but set as a whole before they are read;
 * - how many bits of randomness are drawn, and which bytes of a hash are used: one is as random as the other.
 */
function isSilent(node, text) {
  if (/^(TS|Import|ExportAll)/.test(node.type))
    return !['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression'].includes(node.type)
  if (node.type === 'NewExpression') return /Error$|^ConfigFault$|\dArray$|Buffer$/.test(node.callee.name ?? '')
  if (node.type === 'Property') return node.value.type === 'BinaryExpression' && isNumber(node.value)
  if (node.type === 'VariableDeclarator') return isChosenNumber(node)
  if (node.type === 'PropertyDefinition') return isPlaceholder(node, text)
  if (node.type !== 'CallExpression') return false
  return /(^|\.)(log|trace|logger)(\?)?\.\w+$|\.(describe|emit|note)$|^random(Bytes)?$|^digest\.read\w+$/.test(
    textAt(node.callee, text),
  )
}

/** Whether the field has a number that no `++` or `+=` in the file counts from. */
function isPlaceholder({ key, value }, text) {
  if (value?.type !== 'Literal' || typeof value.value !== 'number') return false
  const name = textAt(key, text)
  return !new RegExp(`(\\+\\+|--)[\\w.]*\\.${name}\\b|\\.${name} ?(\\+\\+|--|[-+|]=)`).test(text)
}

function isChosenNumber({ id, init }) {
  return /^[A-Z][A-Z0-9_]+$/.test(id.name ?? '') && init !== null && isNumber(init)
}

/** A number above 2, or a product of such numbers; 0, 1 and 2 are choices of behavior. */
function isNumber(node) {
  if (node.type === 'Literal') return typeof node.value === 'number' && node.value > 2
  return node.type === 'BinaryExpression' && '*/'.includes(node.operator[0]) && [node.left, node.right].some(isNumber)
}

function isTextNode(node) {
  return node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string')
}

function textAt(node, text) {
  return text.slice(node.start, node.end)
}

function walk(node, parent, visit) {
  if (node === null || typeof node !== 'object') return
  if (Array.isArray(node)) {
    for (const item of node) walk(item, parent, visit)
    return
  }
  if (typeof node.type === 'string' && !visit(node, parent)) return
  for (const [key, value] of Object.entries(node)) if (key !== 'parent') walk(value, node, visit)
}
