// The yardstick of features.py: SimHash by the TF-IDF of cppjieba's keyword extractor. Texts on stdin, each ended
// by a zero byte; prints the seconds for all of them, the dictionary loaded before.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "cppjieba/KeywordExtractor.hpp"

static uint64_t simhash(const cppjieba::KeywordExtractor& extractor, const std::string& text) {
  std::vector<std::pair<std::string, double>> words;
  extractor.Extract(text, words, 200);
  double sums[64] = {};
  for (const auto& [word, weight] : words) {
    const uint64_t hash = std::hash<std::string>{}(word);
    for (int bit = 0; bit < 64; ++bit) sums[bit] += hash >> bit & 1 ? weight : -weight;
  }
  uint64_t fingerprint = 0;
  for (int bit = 0; bit < 64; ++bit) fingerprint |= static_cast<uint64_t>(sums[bit] > 0) << bit;
  return fingerprint;
}

int main(int, char** arguments) {
  const std::string dict = arguments[1];
  const cppjieba::KeywordExtractor extractor(dict + "/jieba.dict.utf8", dict + "/hmm_model.utf8",
                                             dict + "/idf.utf8", dict + "/stop_words.utf8");
  std::vector<std::string> texts;
  for (std::string text; std::getline(std::cin, text, '\0');) texts.push_back(text);
  uint64_t all = 0;
  const auto begun = std::chrono::steady_clock::now();
  for (const auto& text : texts) all ^= simhash(extractor, text);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begun;
  std::printf("%f %016lx\n", seconds.count(), static_cast<unsigned long>(all));
}
