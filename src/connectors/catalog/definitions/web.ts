import { badRequest } from '../../../platform/http/errors.ts'
import type { BuiltRequest, Connector, ApiResponse, Values } from '../definition.ts'

const url = { type: 'string', maxLength: 2_000, pattern: '^https?://', description: 'A public http or https URL' }

const get = ({ url: target }: Values): BuiltRequest => {
  if (!URL.canParse(String(target))) throw badRequest('url must be a URL')
  return {
    method: 'GET',
    url: String(target),
    headers: { accept: 'text/html, application/json;q=0.9, text/plain;q=0.9, */*;q=0.5' },
  }
}

const isHtml = ({ contentType }: ApiResponse): boolean => /\b(?:html|xhtml\+xml)\b/.test(contentType)

const textOf = ({ body }: ApiResponse): string => (typeof body === 'string' ? body : JSON.stringify(body))

export const connector: Connector = {
  slug: 'web',
  name: 'Web',
  category: 'general',
  description: 'Pages and data on the public web. Needs no account.',
  auth: { type: 'none' },
  api: {},
  tools: [
    {
      name: 'read_page',
      description: 'Reads a web page as text.',
      input: { url },
      required: ['url'],
      isReadOnly: true,
      request: get,
      output: async (response, _input, pages) => {
        const text = textOf(response)
        const read = isHtml(response) ? await pages.text(text, response.url) : { title: null, text, isCut: false }
        return { url: response.url, title: read.title, text: read.text, truncated: response.truncated || read.isCut }
      },
    },
    {
      name: 'list_links',
      description: 'Lists the links of a web page.',
      input: { url },
      required: ['url'],
      isReadOnly: true,
      request: get,
      output: async (response, _input, pages) => ({
        url: response.url,
        links: isHtml(response) ? await pages.links(textOf(response), response.url) : [],
      }),
    },
    {
      name: 'get_json',
      description: 'Reads JSON from a URL.',
      input: { url },
      required: ['url'],
      isReadOnly: true,
      request: get,
      output: (response) => {
        if (typeof response.body === 'string') throw badRequest('The response is not JSON.')
        return { url: response.url, json: response.body }
      },
    },
  ],
}
