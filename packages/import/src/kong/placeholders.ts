import { literalPart, Template } from '../core/config-yaml.ts'

/** Placeholders that Kong or decK replaces: `$NAME`, `${NAME}`, `${{ env "NAME" }}` and `{vault://env/name}`. */
const PLACEHOLDER =
  /\$\{\{\s*env\s+["']?([A-Za-z_]\w*)["']?\s*\}\}|\{vault:\/\/([\w./-]+)\}|\$\{([A-Za-z_]\w*)\}|\$([A-Z_][A-Z0-9_]*)/g

/** Returns the variable name of a text that consists of one placeholder; null for other texts. */
export function variableOfText(text: string): string | null {
  const [found] = text.matchAll(PLACEHOLDER)
  return found !== undefined && found[0] === text ? nameOf(found) : null
}

export function hasPlaceholder(text: string): boolean {
  return text.search(PLACEHOLDER) >= 0
}

/** Returns a text of the imported config in which each placeholder has become `${NAME}`. */
export function templateOf(text: string): string | Template {
  if (!hasPlaceholder(text)) return text
  let [found, end] = ['', 0]
  for (const match of text.matchAll(PLACEHOLDER)) {
    found += `${literalPart(text.slice(end, match.index))}\${${nameOf(match)}}`
    end = match.index + match[0].length
  }
  return new Template(found + literalPart(text.slice(end)))
}

/** Returns the text with placeholders replaced by values. */
export function filledText(text: string, valueOf: (name: string) => string): string {
  return text.replaceAll(PLACEHOLDER, (...match: (string | undefined)[]) => valueOf(nameOf(match)))
}

function nameOf(match: readonly (string | undefined)[]): string {
  const [, env, vault, braced, plain] = match
  if (vault === undefined) return env ?? braced ?? plain ?? ''
  const name = vault
    .replace(/^env\//, '')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
  return /^[A-Z_]/.test(name) ? name : `VAULT_${name}`
}
