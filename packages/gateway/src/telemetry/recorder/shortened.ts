/** Clients and backends choose texts of any length; a record must not grow with them. */
export function shortened(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
}

const MAX_TEXT = 256
