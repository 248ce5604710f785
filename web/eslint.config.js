import reactHooks from 'eslint-plugin-react-hooks'
import tseslint from 'typescript-eslint'

// Properties and attributes that a person reads.
const read =
  '/^(alt|aria-(label|description|roledescription|valuetext)|caption|description|error|hint|label|noun|nothingFoundMessage|placeholder|text|title|word)$/'
const letters = '[value=/[A-Za-z]/]'
const branches = ':matches(ConditionalExpression, LogicalExpression)'
const literals = [`Literal${letters}`, 'TemplateLiteral > TemplateElement[value.raw=/[A-Za-z]/]']
const properties = `Property:matches([key.name=${read}], [key.value=${read}])`
const texts = [
  `JSXText${letters}`,
  ...literals.flatMap((literal) => [
    `:matches(JSXElement, JSXFragment) > JSXExpressionContainer > ${literal}`,
    `:matches(JSXElement, JSXFragment) > JSXExpressionContainer > ${branches} > ${literal}`,
    `JSXAttribute[name.name=${read}] > ${literal}`,
    `JSXAttribute[name.name=${read}] > JSXExpressionContainer > ${literal}`,
    `JSXAttribute[name.name=${read}] > JSXExpressionContainer > ${branches} > ${literal}`,
    `${properties} > ${branches} > ${literal}`,
  ]),
  `${properties} > Literal.value${letters}`,
  `${properties} > TemplateLiteral.value > TemplateElement[value.raw=/[A-Za-z]/]`,
]

// A table at the top of a module, whose keys are any texts.
const table =
  ':matches(Program, ExportNamedDeclaration) > VariableDeclaration > VariableDeclarator[init.type="ObjectExpression"] > Identifier.id TSTypeReference[typeName.name="Record"] TSStringKeyword:first-child'

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'src/**/*.gen.ts'] },
  ...tseslint.configs.recommended,
  reactHooks.configs.flat['recommended-latest'],
  {
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      // tsc reports what is unused.
      '@typescript-eslint/no-unused-vars': 'off',
    },
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    ignores: ['src/text/**', '**/*.test.{ts,tsx}'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...texts.map((selector) => ({ selector, message: 'Move this text to the catalogue in src/text.' })),
        {
          selector: table,
          message: 'Use a Map: an object also has members such as "constructor", which a key from outside may name.',
        },
      ],
    },
  },
)
