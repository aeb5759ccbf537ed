/** A known input that makes two parsers disagree on the end of a message, or on its host. */
export interface Shape {
  name: string
  /** latin1 */
  bytes: string
  /** Number of accepted messages, and the code with which the next message is rejected (null: none is rejected). */
  accepted: number
  refused: string | null
}

const H = 'Host: a\r\n'
const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'
const BODY = `0\r\n\r\n${SMUGGLED}`

/** Every rejected shape ends the connection, so the smuggled request is never read. */
export const smugglingCorpus: readonly Shape[] = [
  // Both framings at once.
  refused('CL.TE', post(`Content-Length: ${BODY.length}\r\nTransfer-Encoding: chunked`) + BODY, 'length_and_encoding'),
  refused(
    'TE.CL',
    post('Transfer-Encoding: chunked\r\nContent-Length: 4') + `5c\r\n${SMUGGLED}\r\n0\r\n\r\n`,
    'length_and_encoding',
  ),
  refused('CL.TE with CL 0', post('Content-Length: 0\r\nTransfer-Encoding: chunked') + BODY, 'length_and_encoding'),
  refused(
    'CL.TE, names in other case',
    post('content-LENGTH: 4\r\ntransfer-ENCODING: CHUNKED') + BODY,
    'length_and_encoding',
  ),

  // Transfer-Encoding written so that one of two parsers does not recognize it.
  ...[
    ['xchunked', 'unknown_transfer_encoding'],
    ['chunkedx', 'unknown_transfer_encoding'],
    ['"chunked"', 'unknown_transfer_encoding'],
    ["'chunked'", 'unknown_transfer_encoding'],
    ['chunked, identity', 'unknown_transfer_encoding'],
    ['identity, chunked', 'unknown_transfer_encoding'],
    ['identity', 'unknown_transfer_encoding'],
    ['gzip, chunked', 'unknown_transfer_encoding'],
    ['chunked, chunked', 'unknown_transfer_encoding'],
    ['chunked,', 'unknown_transfer_encoding'],
    [',chunked', 'unknown_transfer_encoding'],
    ['chunked;q=1', 'unknown_transfer_encoding'],
    ['chunk', 'unknown_transfer_encoding'],
    ['cow', 'unknown_transfer_encoding'],
    ['', 'unknown_transfer_encoding'],
    ['\xa0chunked', 'unknown_transfer_encoding'],
    ['chunked\xff', 'unknown_transfer_encoding'],
    ['chunked\t', 'unknown_transfer_encoding'],
    ['chunked ', 'unknown_transfer_encoding'],
    ['\x0bchunked', 'bad_header_value'],
    ['chunked\x0b', 'bad_header_value'],
    ['\x0cchunked', 'bad_header_value'],
    ['chunked\x00', 'bad_header_value'],
    ['chunked\x7f', 'bad_header_value'],
    ['chunked\r', 'bare_cr'],
    ['\nchunked', 'bare_lf'],
    ['\r\n chunked', 'folded_line'],
    ['\r\n\tchunked', 'folded_line'],
    ['chunked\r\n , identity', 'folded_line'],
  ].map(([value, code]) =>
    refused(`TE.TE: ${JSON.stringify(value)}`, post(`Transfer-Encoding: ${value}`) + BODY, code!),
  ),
  refused(
    'TE.TE: two lines, both chunked',
    post('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked') + BODY,
    'unknown_transfer_encoding',
  ),
  refused(
    'TE.TE: chunked, then another',
    post('Transfer-Encoding: chunked\r\nTransfer-encoding: cow') + BODY,
    'unknown_transfer_encoding',
  ),
  refused(
    'TE.TE: another, then chunked',
    post('Transfer-Encoding: cow\r\nTransfer-Encoding: chunked') + BODY,
    'unknown_transfer_encoding',
  ),
  refused('TE.TE: space before the colon', post('Transfer-Encoding : chunked') + BODY, 'space_before_colon'),
  refused('TE.TE: tab before the colon', post('Transfer-Encoding\t: chunked') + BODY, 'space_before_colon'),
  refused('TE.TE: vertical tab before the colon', post('Transfer-Encoding\x0b: chunked') + BODY, 'bad_header_name'),
  refused('TE.TE: NUL in the name', post('Transfer-Encoding\0: chunked') + BODY, 'bad_header_name'),
  refused('TE.TE: space before the name', post(' Transfer-Encoding: chunked') + BODY, 'folded_line'),
  refused('TE.TE: space in the name', post('Transfer Encoding: chunked') + BODY, 'space_before_colon'),
  refused('TE.TE: hidden by a bare CR', post('X: y\rTransfer-Encoding: chunked') + BODY, 'bare_cr'),
  refused('TE.TE: hidden by a bare LF', post('X: y\nTransfer-Encoding: chunked') + BODY, 'bare_lf'),
  refused('TE in HTTP/1.0', `POST / HTTP/1.0\r\n${H}Transfer-Encoding: chunked\r\n\r\n${BODY}`, 'encoding_in_http10'),
  accepted('TE after a tab is plain chunked', post('Transfer-Encoding:\tchunked') + BODY, 2),
  accepted('TE in capitals is plain chunked', post('TRANSFER-ENCODING: CHUNKED') + BODY, 2),
  accepted('TE with an underscore is another field: no body', post('Transfer_Encoding: chunked') + SMUGGLED, 2),

  // Content-Length values that parsers understand differently.
  ...[
    '+5',
    '-5',
    '5,5',
    '5, 6',
    '5 5',
    '0x5',
    '5_0',
    '5.0',
    '5;',
    '1e1',
    '',
    '\xb5',
    '9999999999999999',
    '18446744073709551621',
  ].map((value) =>
    refused(`CL: ${JSON.stringify(value)}`, post(`Content-Length: ${value}`) + BODY, 'bad_content_length'),
  ),
  refused('CL twice, alike', post('Content-Length: 5\r\nContent-Length: 5') + 'abcde', 'second_content_length'),
  refused('CL twice, differing', post('Content-Length: 5\r\nContent-Length: 0') + 'abcde', 'second_content_length'),
  refused('CL after a vertical tab', post('Content-Length: \x0b5') + 'abcde', 'bad_header_value'),
  refused('CL with a space before the colon', post('Content-Length : 5') + 'abcde', 'space_before_colon'),
  accepted('CL with leading zeros', post('Content-Length: 005') + 'abcde' + SMUGGLED, 2),
  accepted(
    'CL nominated by Connection still counts',
    post(`Connection: content-length\r\nContent-Length: ${SMUGGLED.length}`) + SMUGGLED,
    1,
  ),
  accepted(
    'TE nominated by Connection still counts',
    post('Connection: transfer-encoding\r\nTransfer-Encoding: chunked') + BODY,
    2,
  ),

  // One parser reads the body as a request, or the request as a body.
  accepted('CL.0: a GET has the body it says', get(`Content-Length: ${SMUGGLED.length}`) + SMUGGLED, 1),
  accepted('CL.0: a HEAD too', `HEAD / HTTP/1.1\r\n${H}Content-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`, 1),
  accepted('0.CL: what follows a request without length is the next one', post('X: y') + SMUGGLED, 2),
  accepted('TE.0: an empty chunked body ends at its last chunk', post('Transfer-Encoding: chunked') + BODY, 2),
  accepted('TE.0: on a GET', get('Transfer-Encoding: chunked') + BODY, 2),
  accepted('TE.0: on an OPTIONS', `OPTIONS / HTTP/1.1\r\n${H}Transfer-Encoding: chunked\r\n\r\n${BODY}`, 2),
  refused(
    'CONNECT with a body',
    `CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\nContent-Length: 5\r\n\r\nabcde`,
    'connect_with_body',
  ),
  accepted(
    'an upgrade with a body is no upgrade',
    post(`Connection: upgrade\r\nUpgrade: websocket\r\nContent-Length: 5`) + 'abcde' + SMUGGLED,
    2,
  ),
  accepted(
    '0.CL: Expect does not change the length',
    post('Expect: 100-continue\r\nContent-Length: 5') + 'abcde' + SMUGGLED,
    2,
  ),
  refused('Expect obfuscated', post('Expect: y 100-continue\r\nContent-Length: 5') + 'abcde', 'unknown_expectation'),

  // Chunk sizes and their lines.
  ...[
    '0x5',
    '+5',
    '-5',
    ' 5',
    '\t5',
    '5 ',
    '5\t',
    '5_',
    '_5',
    '5,',
    '5h',
    'g',
    '',
    '"5"',
    '5 ;a',
    '5\0',
    '\xb2',
    '10000000000000005',
    'ffffffffffffffff',
    'fffffffffffffffb',
    '100000000000005',
  ].map((size) => badChunk(`chunk size ${JSON.stringify(size)}`, `${size}\r\nabcde\r\n${BODY}`)),
  badChunk('chunk size line ended by LF', `5\nabcde\r\n${BODY}`),
  badChunk('chunk size line ended by CR', `5\rabcde\r\n${BODY}`),
  badChunk('chunk size line ended by CR CR LF', `5\r\r\nabcde\r\n${BODY}`),
  badChunk('chunk data ended by LF', `5\r\nabcde\n${BODY}`),
  badChunk('chunk data ended by CR', `5\r\nabcde\r${BODY}`),
  badChunk('chunk data ended by nothing', `5\r\nabcde${BODY}`),
  badChunk('chunk data ended by two other bytes', `5\r\nabcdeXX${BODY}`),
  badChunk('chunk longer than it says', `5\r\nabcdef\r\n${BODY}`),
  badChunk('chunk shorter than it says', `5\r\nabcd\r\n${BODY}`),
  badChunk('last chunk line ended by LF', `0\n\r\n${SMUGGLED}`),
  badChunk('last chunk ended by LF', `0\r\n\n${SMUGGLED}`),
  badChunk('last chunk ended by CR', `0\r\n\r${SMUGGLED}`),
  badChunk('last chunk written as -0', `-0\r\n\r\n${SMUGGLED}`),
  badChunk('last chunk written as 0x0', `0x0\r\n\r\n${SMUGGLED}`),
  accepted('last chunk of several zeros', post('Transfer-Encoding: chunked') + `000\r\n\r\n${SMUGGLED}`, 2),
  accepted('chunk size with leading zeros', post('Transfer-Encoding: chunked') + `005\r\nabcde\r\n${BODY}`, 2),

  // Chunk extensions that one parser ends earlier.
  badChunk('extension with LF (TERM.EXT)', `5;\n\r\nabcde\r\n${BODY}`),
  badChunk('extension with a line ended by LF (EXT.TERM)', `2;\nxx\r\n4c\r\n0\r\n\r\n${SMUGGLED}`),
  badChunk('extension with LF after a name', `5;a\nabcde\r\n${BODY}`),
  badChunk('extension with bare CR', `5;a\rb\r\nabcde\r\n${BODY}`),
  badChunk('extension with LF in quotes', `5;a="\n"\r\nabcde\r\n${BODY}`),
  badChunk('extension with CRLF in quotes', `5;a="\r\n"\r\nabcde\r\n${BODY}`),
  badChunk('extension with an escaped line end', `5;a="\\\r\n"\r\nabcde\r\n${BODY}`),
  badChunk('extension with NUL', `5;a\0\r\nabcde\r\n${BODY}`),
  badChunk('extension without a name', `5;\r\nabcde\r\n${BODY}`),
  badChunk('extension with blanks', `5; a=b\r\nabcde\r\n${BODY}`),
  badChunk('extension not closed', `5;a="b\r\nabcde\r\n${BODY}`),
  badChunk('extension on the last chunk ended by LF', `0;a\n\r\n${SMUGGLED}`),
  badChunk('extension without end', `5;${'a'.repeat(5000)}\r\nabcde\r\n${BODY}`),
  badChunk('zeros without end', `${'0'.repeat(5000)}\r\n\r\n${SMUGGLED}`),
  accepted(
    'well-formed extensions',
    post('Transfer-Encoding: chunked') + `5;a;b=c;d="e\\"f g"\r\nabcde\r\n0;x\r\n\r\n${SMUGGLED}`,
    2,
  ),

  // Trailers.
  badChunk('Content-Length in trailers', `0\r\nContent-Length: 5\r\n\r\n${SMUGGLED}`),
  badChunk('Transfer-Encoding in trailers', `0\r\nTransfer-Encoding: chunked\r\n\r\n${SMUGGLED}`),
  badChunk('trailer line ended by LF', `0\r\nX: y\n\r\n${SMUGGLED}`),
  badChunk('trailer without a colon', `0\r\n${SMUGGLED}`),
  badChunk('folded trailer', `0\r\nX: y\r\n z\r\n\r\n${SMUGGLED}`),
  badChunk('trailer with NUL', `0\r\nX: \0\r\n\r\n${SMUGGLED}`),
  accepted('plain trailers', post('Transfer-Encoding: chunked') + `0\r\nX: y\r\n\r\n${SMUGGLED}`, 2),

  // Line ends and names.
  refused('head with LF alone', 'GET / HTTP/1.1\nHost: a\n\n', 'bare_lf'),
  refused('empty line of LF alone', 'GET / HTTP/1.1\r\nHost: a\r\n\n', 'bare_lf'),
  refused('line of CR alone', 'GET / HTTP/1.1\rHost: a\r\n\r\n', 'bad_request_line'),
  refused('LF CR', 'GET / HTTP/1.1\n\rHost: a\r\n\r\n', 'bad_request_line'),
  refused('CR CR LF', 'GET / HTTP/1.1\r\nHost: a\r\r\n\r\n', 'bare_cr'),
  refused('NUL in a value', get('X: a\0b'), 'bad_header_value'),
  refused('NUL in a name', get('X\0: a'), 'bad_header_name'),
  refused('name in quotes', get('"X": a'), 'bad_header_name'),
  refused('no name', get(': a'), 'bad_header_name'),
  refused('no colon', get('X'), 'bad_header_name'),
  refused('name with 0xa0', get('X\xa0: a'), 'bad_header_name'),
  refused('folded first line', 'GET / HTTP/1.1\r\n X: y\r\nHost: a\r\n\r\n', 'folded_line'),
  refused('folded value', get('X: y\r\n z'), 'folded_line'),
  accepted('empty lines before a request', `\r\n${SMUGGLED}`, 1),

  // The host of the request.
  refused('two Hosts', get('Host: b'), 'second_host'),
  refused('two Hosts, alike', get('Host: a'), 'second_host'),
  refused('no Host', 'GET / HTTP/1.1\r\n\r\n', 'missing_host'),
  refused('empty Host', 'GET / HTTP/1.1\r\nHost:\r\n\r\n', 'bad_host'),
  refused('Host list', 'GET / HTTP/1.1\r\nHost: a b\r\n\r\n', 'bad_host'),
  refused('Host with a user', 'GET / HTTP/1.1\r\nHost: b@a\r\n\r\n', 'bad_host'),
  refused('Host with a path', 'GET / HTTP/1.1\r\nHost: a/b\r\n\r\n', 'bad_host'),
  refused('Host with a space before the colon', 'GET / HTTP/1.1\r\nHost : a\r\n\r\n', 'space_before_colon'),
  refused('absolute form for another host', `GET http://b/ HTTP/1.1\r\n${H}\r\n`, 'authority_mismatch'),
  refused('absolute form with another port', `GET http://a:81/ HTTP/1.1\r\n${H}\r\n`, 'authority_mismatch'),
  refused('absolute form with a user', `GET http://b@a/ HTTP/1.1\r\n${H}\r\n`, 'bad_host'),
  refused('absolute form without a host', `GET http:///x HTTP/1.1\r\n${H}\r\n`, 'bad_host'),
  refused('absolute form of another scheme', `GET ftp://a/ HTTP/1.1\r\n${H}\r\n`, 'bad_target'),
  refused('CONNECT for another host', 'CONNECT b:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', 'authority_mismatch'),
  refused('fragment in the target', `GET /#x HTTP/1.1\r\n${H}\r\n`, 'bad_target'),
  refused('space in the target', `GET /a b HTTP/1.1\r\n${H}\r\n`, 'bad_request_line'),
  refused('two spaces before the target', `GET  / HTTP/1.1\r\n${H}\r\n`, 'bad_target'),
  refused('tab in the request line', `GET\t/\tHTTP/1.1\r\n${H}\r\n`, 'bad_request_line'),
  refused('HTTP/0.9', `GET /\r\n${H}\r\n`, 'bad_target'),
  refused('the HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'unsupported_version'),
  refused('HTTP/1.2', `GET / HTTP/1.2\r\n${H}\r\n`, 'unsupported_version'),
  refused('request after Connection: close is not read', get('Connection: close') + SMUGGLED, null, 1),
]

function get(lines: string): string {
  return `GET / HTTP/1.1\r\n${H}${lines}\r\n\r\n`
}

function post(lines: string): string {
  return `POST / HTTP/1.1\r\n${H}${lines}\r\n\r\n`
}

function accepted(name: string, bytes: string, count: number): Shape {
  return { name, bytes, accepted: count, refused: null }
}

function refused(name: string, bytes: string, code: string | null, count = 0): Shape {
  return { name, bytes, accepted: count, refused: code }
}

/** The head is valid; its body is not, and never counts as complete. */
function badChunk(name: string, body: string): Shape {
  return { name, bytes: post('Transfer-Encoding: chunked') + body, accepted: 0, refused: 'bad_chunk' }
}
