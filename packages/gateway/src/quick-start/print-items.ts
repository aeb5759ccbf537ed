/** Items of a list as people write them in a config: short ones on a line, the rest in blocks. */
export function printItems(items: readonly unknown[], indent = ''): string {
  return itemLines(items)
    .map((line) => `${indent}${line}\n`)
    .join('')
}

function linesOf(value: unknown): string[] {
  if (isShort(value)) return [inline(value)]
  if (Array.isArray(value)) return itemLines(value)
  return Object.entries(value as object).flatMap(([key, child]) => {
    if (isShort(child)) return [`${word(key)}: ${inline(child)}`]
    const lines = linesOf(child)
    return [`${word(key)}:`, ...(Array.isArray(child) ? lines : lines.map((line) => `  ${line}`))]
  })
}

function itemLines(items: readonly unknown[]): string[] {
  return items.flatMap((item) => hung('- ', linesOf(item)))
}

/** The first line with a mark, the others below it. */
function hung(mark: string, lines: readonly string[]): string[] {
  return lines.map((line, index) => (index === 0 ? mark : ' '.repeat(mark.length)) + line)
}

function isShort(value: unknown): boolean {
  return typeof value !== 'object' || value === null || inline(value).length <= MOST_CHARACTERS
}

const MOST_CHARACTERS = 60

function inline(value: unknown): string {
  if (typeof value === 'string') return word(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`
  const members = Object.entries(value).map(([key, child]) => `${word(key)}: ${inline(child)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

/** Without quotes where it can be nothing else than a text. */
function word(text: string): string {
  return /^[A-Za-z/][\w/.-]*$/.test(text) && !OTHER_MEANING.test(text) ? text : JSON.stringify(text)
}

const OTHER_MEANING = /^(?:true|false|null|yes|no|on|off|y|n)$/i
