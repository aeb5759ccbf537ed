/** Yields the complete lines of a byte stream. Bytes after the last newline are dropped, because the line was cut. */
export async function* linesOf(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<string> {
  let parts: Buffer[] = []
  let length = 0
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(LINE_END); end !== -1; end = chunk.indexOf(LINE_END, start)) {
      parts.push(chunk.subarray(start, end))
      const line = Buffer.concat(parts).toString('utf8')
      parts = []
      length = 0
      start = end + 1
      if (line.trim() !== '') yield line
    }
    if (start === chunk.length) continue
    parts.push(chunk.subarray(start))
    length += chunk.length - start
    if (length > maxBytes) throw new Error(`a line is longer than ${maxBytes} bytes`)
  }
}

const LINE_END = 10
