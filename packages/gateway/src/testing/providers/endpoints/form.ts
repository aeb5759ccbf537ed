import { invalid } from '../answer.ts'
import { type FakeRequest, headerOf } from '../reply.ts'

/** A form as a vendor reads it: texts by name, where a name that ends with `[]` has a list, and files. */
interface ReadForm {
  fields: Record<string, string | string[]>
  files: { name: string; filename: string; bytes: Buffer }[]
}

export function readForm(request: FakeRequest): ReadForm {
  const boundary = /^multipart\/form-data;.*boundary="?([^";]+)"?/i.exec(headerOf(request, 'content-type'))?.[1]
  if (boundary === undefined) throw invalid('the body must be multipart/form-data')
  // Latin-1 has a character for each byte.
  const [preamble, ...pieces] = request.raw.toString('latin1').split(`--${boundary}`)
  if (preamble !== '' || pieces.pop()?.startsWith('--') !== true) throw invalid('the form is not complete')
  const form: ReadForm = { fields: {}, files: [] }
  for (const piece of pieces) addPart(form, piece)
  return form
}

function addPart({ fields, files }: ReadForm, piece: string): void {
  const end = piece.indexOf('\r\n\r\n')
  const bytes = Buffer.from(piece.slice(end + 4, -2), 'latin1')
  const [, name] = /\bname="([^"]*)"/.exec(piece.slice(0, end)) ?? []
  const [, filename] = /\bfilename="([^"]*)"/.exec(piece.slice(0, end)) ?? []
  if (name === undefined) throw invalid('a part of the form has no name')
  if (filename !== undefined) files.push({ name, filename, bytes })
  else if (name.endsWith('[]')) {
    const known = fields[name]
    fields[name] = [...(Array.isArray(known) ? known : []), bytes.toString()]
  } else if (Object.hasOwn(fields, name)) throw invalid(`Duplicate parameter: '${name}'.`, name)
  else fields[name] = bytes.toString()
}

/** The bytes of the file with this name; refuses files with other names. */
export function onlyFile({ files }: ReadForm, name: string): Buffer {
  const [file, other] = files
  if (file?.name !== name || other !== undefined) throw invalid(`the form needs one file, '${name}'`, name)
  return file.bytes
}
