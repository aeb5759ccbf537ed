/** Media types of files that come without one, by the end of their name. */
const BY_ENDING: ReadonlyMap<string, string> = new Map([
  ['csv', 'text/csv'],
  ['doc', 'application/msword'],
  ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['htm', 'text/html'],
  ['html', 'text/html'],
  ['json', 'application/json'],
  ['markdown', 'text/markdown'],
  ['md', 'text/markdown'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['xls', 'application/vnd.ms-excel'],
  ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['xml', 'application/xml'],
  ['yaml', 'application/yaml'],
  ['yml', 'application/yaml'],
])

/** The media type by the extension of a file name. */
export function mediaTypeOfName(name: string): string {
  const ending = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ''
  return BY_ENDING.get(ending) ?? 'application/octet-stream'
}

/** Whether files of this media type are text that a model reads as it is. */
export function isTextType(mediaType: string): boolean {
  return TEXT.test(mediaType)
}

const TEXT = /^text\/|[/+](?:json|xml|yaml|csv|markdown|javascript|x-sh)\b/i
