// The rules of Fairy-Stockfish for variant_rules.py, which compiles this file with the sources in
// PyPI's package pyffish. Reads requests from standard input, one a line:
//
//   games VARIANT FIRST COUNT MAX_PLIES   play random games; write "PLIES DIGEST RESULT" for each
//   perft VARIANT DEPTH FEN               write the number of leaves
//
// variant_rules.py describes the random games.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "bitboard.h"
#include "endgame.h"
#include "movegen.h"
#include "piece.h"
#include "position.h"
#include "psqt.h"
#include "search.h"
#include "thread.h"
#include "uci.h"
#include "variant.h"

using namespace Stockfish;

namespace {

enum Result { UNFINISHED, WHITE_WINS, BLACK_WINS, DRAWN };

uint64_t random_number(uint64_t& state) {
    uint64_t z = state += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
}

void add(uint64_t& digest, uint64_t number) { digest = (digest ^ number) * 0x100000001B3; }

int kind(PieceType type) { return type <= QUEEN ? type - PAWN : 5; }

int code(Move move) {
    int from = from_sq(move), to = to_sq(move);
    switch (type_of(move)) {
    case DROP: return kind(dropped_piece_type(move)) | to << 6 | 8 << 12;
    case PROMOTION: return from | to << 6 | kind(promotion_type(move)) << 12;
    case CASTLING: return from | (from - from % 8 + (to > from ? 6 : 2)) << 6;
    default: return from | to << 6;
    }
}

Result result_of(Value value, Color side) {
    if (value == VALUE_DRAW)
        return DRAWN;
    return (value > 0) == (side == WHITE) ? WHITE_WINS : BLACK_WINS;
}

void play(const Variant* variant, uint64_t seed, int max_plies) {
    std::deque<StateInfo> states(1);
    Position position;
    position.set(variant, variant->startFen, false, &states.back(), Threads.main());
    uint64_t state = seed, digest = 0;
    int plies = 0;
    Result result = UNFINISHED;
    std::vector<std::pair<int, Move>> moves;
    for (; plies < max_plies; ++plies) {
        Value value;
        moves.clear();
        if (position.is_immediate_game_end(value)) {
            result = result_of(value, position.side_to_move());
            break;
        }
        for (Move move : MoveList<LEGAL>(position))
            moves.emplace_back(code(move), move);
        if (moves.empty()) {
            value = position.checkers() ? position.checkmate_value() : position.stalemate_value();
            result = result_of(value, position.side_to_move());
            break;
        }
        if (position.is_optional_game_end(value)) {
            result = result_of(value, position.side_to_move());
            break;
        }
        std::sort(moves.begin(), moves.end());
        for (const auto& each : moves)
            add(digest, each.first);
        add(digest, moves.size());
        states.emplace_back();
        position.do_move(moves[(random_number(state) >> 33) % moves.size()].second, states.back());
    }
    std::cout << plies << ' ' << digest << ' ' << result << '\n';
}

uint64_t perft(Position& position, int depth) {
    Value value;
    if (position.is_immediate_game_end(value))
        return 0;
    if (depth == 1)
        return MoveList<LEGAL>(position).size();
    uint64_t leaves = 0;
    for (Move move : MoveList<LEGAL>(position)) {
        StateInfo state;
        position.do_move(move, state);
        leaves += perft(position, depth - 1);
        position.undo_move(move);
    }
    return leaves;
}

} // namespace

int main() {
    pieceMap.init();
    variants.init();
    UCI::init(Options);
    PSQT::init(variants.find(Options["UCI_Variant"])->second);
    Bitboards::init();
    Position::init();
    Bitbases::init();
    Search::init();
    Threads.set(1);
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words(line);
        std::string request, name;
        words >> request >> name;
        Variant variant = *variants.find(name)->second;
        if (name == "crazyhouse")
            variant.nMoveRule = 0; // as on lichess
        UCI::init_variant(&variant);
        if (request == "games") {
            uint64_t first, count;
            int max_plies;
            words >> first >> count >> max_plies;
            for (uint64_t seed = first; seed < first + count; ++seed)
                play(&variant, seed, max_plies);
        } else {
            int depth;
            std::string fen;
            words >> depth >> std::ws;
            std::getline(words, fen);
            std::deque<StateInfo> states(1);
            Position position;
            position.set(&variant, fen, false, &states.back(), Threads.main());
            std::cout << perft(position, depth) << '\n';
        }
        std::cout << std::flush;
    }
    Threads.set(0);
    return 0;
}
